# Follows a line that says where the real `node` is.
case " $NODE_OPTIONS " in
  *" $GLOVEBOX_NODE_OPTIONS "*) ;;
  *)
    NODE_OPTIONS="$GLOVEBOX_NODE_OPTIONS${NODE_OPTIONS:+ $NODE_OPTIONS}"
    export NODE_OPTIONS
    ;;
esac
exec "$real" "$@"
